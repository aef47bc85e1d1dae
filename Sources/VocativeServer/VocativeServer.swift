// VocativeServer
