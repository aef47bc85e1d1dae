// VocativeStorage
