/// The source and tools that this program was built from.
enum BuildInfo {
    /// The version of Grandstand. There are no numbered releases yet.
    static let version = "development"

    /// The newest migration in this program. A database must have it.
    static let schema = Migration.all.map(\.version).max() ?? 0

    static var swift: String {
        #if compiler(>=6.3)
            "6.3"
        #else
            "6"
        #endif
    }
}
