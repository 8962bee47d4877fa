/// A Postgres type by its OID (pg_type.dat), with the OID of arrays of it.
package struct PostgresType: Sendable, Hashable {
    package let oid: UInt32
    package let arrayOID: UInt32

    package static let bool = PostgresType(oid: 16, arrayOID: 1000)
    package static let bytea = PostgresType(oid: 17, arrayOID: 1001)
    package static let int8 = PostgresType(oid: 20, arrayOID: 1016)
    package static let int2 = PostgresType(oid: 21, arrayOID: 1005)
    package static let int4 = PostgresType(oid: 23, arrayOID: 1007)
    package static let text = PostgresType(oid: 25, arrayOID: 1009)
    package static let json = PostgresType(oid: 114, arrayOID: 199)
    package static let float8 = PostgresType(oid: 701, arrayOID: 1022)
    package static let timestamptz = PostgresType(oid: 1184, arrayOID: 1185)
    package static let uuid = PostgresType(oid: 2950, arrayOID: 2951)
    /// Values of this type are only read, never sent.
    static let jsonbOID: UInt32 = 3802
}
