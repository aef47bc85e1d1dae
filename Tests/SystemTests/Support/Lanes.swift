import Testing

// Each test starts services of its own. Those of a lane run one after another, and the lanes side
// by side, so that a small machine is busy and not swamped. The demo page's tests, and clients that
// stall for a minute, are lanes of their own.

/// What users see of the service.
@Suite(.serialized)
struct ServiceTests {}

/// What operators see of it.
@Suite(.serialized)
struct ProcessTests {}
