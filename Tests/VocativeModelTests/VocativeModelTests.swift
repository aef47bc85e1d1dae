// VocativeModelTests
