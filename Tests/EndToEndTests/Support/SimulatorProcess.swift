internal import Foundation
internal import GrandstandTestKit

/// `grandstand simulator` as a process of its own: an APNs that can be killed, and come back as it was.
final class SimulatorProcess: Sendable {
    private let process: Process
    private let place: SimulatorPlace

    /// Starts the simulator; returns once the file of its certificate authority exists.
    static func start(at place: SimulatorPlace) async throws -> SimulatorProcess {
        let process = Process()
        process.executableURL = Bundle.main.bundleURL.appending(path: "grandstand")
        process.arguments = [
            "simulator", "--port", "\(place.port)", "--dir", place.folder, "--state", place.folder + "/state",
            "--capitals", "accepted", "--no-lock-screens",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let simulator = SimulatorProcess(process, at: place)
        try await until("the simulator has its certificates") {
            FileManager.default.fileExists(atPath: place.folder + "/ca.pem")
        }
        return simulator
    }

    private init(_ process: Process, at place: SimulatorPlace) {
        self.process = process
        self.place = place
    }

    /// The state that the simulator has saved so far and loads at its next start.
    var state: String {
        let text = try? String(contentsOfFile: place.folder + "/state", encoding: .utf8)
        return text?.replacing("\\/", with: "/") ?? ""
    }

    /// Stops the process: connections and requests still arrive, but it answers nothing.
    func freeze() { kill(process.processIdentifier, SIGSTOP) }

    /// Kills the process as a crash would, even if the process is frozen.
    func kill9() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit { if process.isRunning { kill9() } }
}
