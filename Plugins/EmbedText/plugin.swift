import PackagePlugin

/// Turns a target's text files (SQL, the demo page, the contract) into Swift string constants, so
/// that the deployed binary carries them and needs no file beside it.
@main
struct EmbedText: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let inputs = target.sourceFiles.map(\.url).filter { $0.pathExtension != "swift" }
      .sorted { $0.path < $1.path }
    let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedText.swift")
    return [
      .buildCommand(
        displayName: "Embedding \(inputs.count) text files of \(target.name)",
        executable: try context.tool(named: "embed-text").url,
        arguments: [output.path] + inputs.map(\.path),
        inputFiles: inputs, outputFiles: [output])
    ]
  }
}
