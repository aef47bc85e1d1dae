// TLSTransportTests
