import PackagePlugin

/// Turns the `.sql` files of the `sql` target into Swift constants, so that the deployed binary
/// carries its migrations and queries and needs no file beside it.
@main
struct EmbedSQL: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let inputs = target.sourceFiles.map(\.url).filter { $0.pathExtension == "sql" }
      .sorted { $0.path < $1.path }
    let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedSQL.swift")
    return [
      .buildCommand(
        displayName: "Embedding \(inputs.count) SQL files",
        executable: try context.tool(named: "embed-sql").url,
        arguments: [output.path] + inputs.map(\.path),
        inputFiles: inputs, outputFiles: [output])
    ]
  }
}
