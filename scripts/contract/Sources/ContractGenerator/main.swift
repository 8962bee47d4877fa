import Foundation

// contract OPENAPI.YAML FOLDER: writes the files of the folder's target anew.
let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    FileHandle.standardError.write(Data("usage: ContractGenerator OPENAPI.YAML SOURCES\n".utf8))
    exit(64)
}
do {
    let contract = try Contract(yaml: String(contentsOfFile: arguments[1], encoding: .utf8))
    let files = [
        "GrandstandContract/Generated/Words.swift": contract.words(),
        "GrandstandContract/Generated/ProblemKind.swift": contract.problemKinds(),
        "GrandstandContract/Generated/Objects.swift": contract.objects(),
        "GrandstandContract/Generated/Operations.swift": contract.operationList(),
        "GrandstandClient/Generated/Names.swift": contract.clientNames(),
        "GrandstandClient/Generated/Calls.swift": contract.clientCalls(),
    ]
    for (name, text) in files {
        let file = URL(filePath: arguments[2]).appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
} catch {
    FileHandle.standardError.write(Data("contract: \(error)\n".utf8))
    exit(1)
}
