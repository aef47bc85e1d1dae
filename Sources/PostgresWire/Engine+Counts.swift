extension Engine {
  /// How a pool is.
  package struct Counts {
    package var size = 0
    package var connected = 0
    package var waiting = 0
    package var inFlight = 0
  }

  package var readCounts: Counts { counts(readLinks, waiting: reads.count) }
  package var writeCounts: Counts { counts(writeLinks, waiting: writes.count) }
  package var leaseCounts: Counts {
    var counts = counts(leaseLinks, waiting: exclusives.count)
    counts.inFlight = leaseLinks.count { $0.isReady && (!$0.isIdle || $0.lease != nil) }
    return counts
  }

  /// Whether the listening connection is up; nil when nobody listens.
  package var listening: Bool? { wantedChannels.isEmpty ? nil : listenLink.isReady }

  private func counts(_ links: [Link], waiting: Int) -> Counts {
    var counts = Counts(size: links.count, waiting: waiting)
    for link in links where link.isReady {
      counts.connected += 1
      for batch in link.batches { counts.inFlight += batch.members.count }
    }
    return counts
  }
}
