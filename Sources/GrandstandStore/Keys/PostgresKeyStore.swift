internal import Crypto
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// API keys in the table `api_keys`: only SHA-256 hashes of secrets that have 256 random bits.
package struct PostgresKeyStore: KeyStore {
    let database: Database

    package init(_ database: Database) { self.database = database }

    package func create(
        name: String, scopes: Set<APIKey.Scope>, bundleID: BundleID?
    ) async throws -> (key: APIKey, secret: String) {
        let secret = Self.makeSecret()
        let key = APIKey(
            id: UUID(), name: name, scopes: scopes, bundleID: bundleID, prefix: String(secret.prefix(9)),
            createdAt: Date(), revokedAt: nil)
        do {
            try await database.query(
                """
                insert into api_keys (id, name, secret_hash, prefix, scopes, bundle_id, created_at)
                values (\(key.id), \(name), \(Self.hash(secret)), \(key.prefix),
                    \(scopes.map(\.rawValue).sorted())::text[]::key_scope[], \(bundleID?.rawValue), \(key.createdAt))
                """)
        } catch let error as PostgresError where error.sqlState == .foreignKeyViolation {
            throw Problem(
                .appNotFound, "There is no app \(bundleID?.rawValue ?? ""). Register it first, or leave the app out.")
        }
        return (key, secret)
    }

    package func authenticate(_ secret: String) async throws -> APIKey? {
        let rows = try await database.query(
            "\(Self.selection) where secret_hash = \(Self.hash(secret)) and revoked_at is null")
        return try rows.first.map(Self.key)
    }

    package func keys() async throws -> [APIKey] {
        try await database.query("\(Self.selection) order by created_at desc, id").map(Self.key)
    }

    package func revoke(_ id: UUID, now: Date) async throws -> Bool {
        try await database.query(
            "update api_keys set revoked_at = \(now) where id = \(id) and revoked_at is null"
        ).affectedRows == 1
    }

    /// `gs_` and 43 characters of base64url: 256 random bits, recognisable by secret scanners.
    private static func makeSecret() -> String {
        let bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        let text = bytes.base64EncodedString().compactMap { character -> Character? in
            switch character {
            case "+": "-"
            case "/": "_"
            case "=": nil
            default: character
            }
        }
        return "gs_" + String(text)
    }

    private static func hash(_ secret: String) -> [UInt8] { Array(SHA256.hash(data: Data(secret.utf8))) }

    private static let selection: PostgresQuery = """
        select id, name, scopes::text[] as scopes, bundle_id, prefix, created_at, revoked_at from api_keys
        """

    private static func key(_ row: PostgresRow) throws -> APIKey {
        let scopes: [String] = try row.decode("scopes")
        return APIKey(
            id: try row.decode("id"), name: try row.decode("name"),
            scopes: Set(scopes.compactMap(APIKey.Scope.init)), bundleID: try row.optionalWord("bundle_id"),
            prefix: try row.decode("prefix"), createdAt: try row.decode("created_at"),
            revokedAt: try row.decode("revoked_at"))
    }
}
