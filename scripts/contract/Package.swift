// swift-tools-version: 6.2
// Writes Swift from openapi.yaml. A package of its own: who builds Grandstand, or an app with its client, needs no YAML.
import PackageDescription

let package = Package(
    name: "contract",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/jpsim/Yams", from: "6.2.0")],
    targets: [.executableTarget(name: "ContractGenerator", dependencies: ["Yams"])]
)
