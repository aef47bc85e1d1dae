// VocativeStorageTests
