import HTTPTypes
public import Hummingbird
public import Logging
import NIOCore
public import Observability

/// What operators' tools read, on an address of its own: metrics and the health checks.
public enum Administration {
  /// - Parameters:
  ///   - gauges: values that are read when they are asked for.
  public static func application(
    metrics: PrometheusMetrics, readiness: @escaping @Sendable () async -> Readiness,
    host: String, port: Int, gauges: @escaping @Sendable () -> [(name: String, value: Double)],
    logger: Logger
  ) -> some ApplicationProtocol {
    let router = Router(context: ServiceContext.self)
    OperationRoutes(readiness: readiness).add(to: router)
    router.get("metrics") { _, _ in
      var text = ""
      metrics.render(into: &text)
      ProcessMetrics().render(into: &text)
      for gauge in gauges() {
        text += "# TYPE \(gauge.name) gauge\n\(gauge.name) \(gauge.value)\n"
      }
      return Response(
        status: .ok, headers: [.contentType: PrometheusMetrics.contentType],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
    return Application(
      router: router,
      configuration: ApplicationConfiguration(
        address: .hostname(host, port: port), serverName: "vocative-admin"),
      onServerRunning: { channel in
        logger.info(
          "listening for administration",
          metadata: ["address": "http://\(host):\(channel.localAddress?.port ?? port)"])
      },
      logger: logger)
  }
}
