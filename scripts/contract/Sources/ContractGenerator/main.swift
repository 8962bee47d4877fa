import Foundation
import Yams

// ContractGenerator OPENAPI.YAML SOURCES: writes the folders Generated of two targets into the folder SOURCES.
let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    FileHandle.standardError.write(Data("usage: ContractGenerator OPENAPI.YAML SOURCES\n".utf8))
    exit(64)
}
do {
    let text = try String(contentsOfFile: arguments[1], encoding: .utf8)
    guard let root = try Yams.compose(yaml: text) else { throw ContractFault("openapi.yaml is empty") }
    let contract = try Contract(root)
    let shapes = try RequestShapes(root)
    func file(_ room: String) -> String { room.prefix(1).uppercased() + room.dropFirst() + ".swift" }
    var files = [
        "GrandstandContract/Generated/ProblemKind.swift": contract.problemKinds(),
        "GrandstandContract/Generated/Values.swift": contract.values(),
        "GrandstandContract/Generated/Requests.swift": shapes.requests(),
        "GrandstandContract/Generated/Texts.swift": try shapes.texts(),
        "GrandstandContract/Generated/OperationList.swift": contract.operationList(),
        "GrandstandClient/Generated/Names.swift": contract.clientNames(),
    ]
    for room in contract.rooms {
        files["GrandstandContract/Generated/\(file(room))"] = contract.types(of: room)
        files["GrandstandClient/Generated/Calls/\(file(room))"] = contract.clientCalls(of: room)
    }
    for (name, text) in files where !text.isEmpty {
        let file = URL(filePath: arguments[2]).appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
} catch {
    FileHandle.standardError.write(Data("contract: \(error)\n".utf8))
    exit(1)
}
