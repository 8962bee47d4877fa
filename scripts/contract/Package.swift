// swift-tools-version: 6.2
// Generates Swift from openapi.yaml. It is a separate package, so that Grandstand and apps with its client need no YAML
// parser.
import PackageDescription

let package = Package(
    name: "contract",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/jpsim/Yams", from: "6.2.0")],
    targets: [.executableTarget(name: "ContractGenerator", dependencies: ["Yams"])]
)
