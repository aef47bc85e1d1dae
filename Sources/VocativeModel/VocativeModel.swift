// VocativeModel
