// VocativeServerTests
