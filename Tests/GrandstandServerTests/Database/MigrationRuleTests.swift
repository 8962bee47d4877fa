internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// `scripts/check-migrations` checks new migrations: a build that knows the migration and a build that does not must be
/// able to run at the same time.
@Suite(.timeLimit(.minutes(20)))
struct MigrationRuleTests {
    /// The schema that the tests start from, as migration 1. The rule applies to the migrations after it.
    private static let base = """
        create type colour as enum ('red');
        create type audit_action as enum ('made');
        create table things (id integer primary key, name text, colour colour not null default 'red');
        create table parts (id integer primary key, thing integer);
        create function told(integer) returns integer language sql as 'select $1';
        """

    @Test func `a migration that only adds passes`() async throws {
        let (passes, said) = try await Self.check([
            "alter table things add column size integer not null default 1 check (size > 0);",
            "alter table things add column part integer references parts;",
            "create table more (id integer primary key, size integer not null check (size > 0)); create index on more (size);",
            "alter type audit_action add value 'unmade';",
            "create or replace function told(integer) returns integer language sql as 'select $1 + 1';",
        ])
        #expect(passes, "\(said)")
    }

    @Test func `a migration that removes, requires or blocks something is refused`() async throws {
        let refused = [
            ("alter table things drop column name;", "takes away: things, column name text"),
            ("alter table things alter id type bigint;", "writes the table anew: things"),
            ("drop table parts;", "takes away: parts, the relation"),
            ("alter table things alter colour drop not null;", "takes away: things, a value in each row of colour"),
            ("alter table things alter name set not null;", "asks: things, a value for name"),
            ("alter table things add column size integer not null;", "asks: things, a value for size"),
            ("alter table things add check (name <> '');", "asks: things, CHECK"),
            ("alter type colour add value 'blue';", "asks: colour, to read enum value blue"),
            ("drop function told(integer);", "takes away: told, function"),
            ("create index on things (name);", "nobody can write while it builds an index of: things"),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, (sql, words)) in refused.enumerated() {
                if index >= 3 { _ = try await group.next() }
                group.addTask {
                    let (passes, said) = try await Self.check([sql])
                    #expect(!passes && said.contains(words), "\(sql): \(said)")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a migration that removes something passes if it names the builds that may still run`() async throws {
        for statement in ["-- least: 2", "-- compatible: nobody named it"] {
            let (passes, said) = try await Self.check(["\(statement)\nalter table things drop column name;"])
            #expect(passes, "\(said)")
        }
    }

    @Test(arguments: [0, 3])
    func `the oldest allowed build is at most the migration itself, and never decreases`(least: Int) async throws {
        let (passes, said) = try await Self.check(["-- least: \(least)"])
        #expect(!passes && said.contains("from 1 to \(least)"), "\(said)")
    }

    /// Runs the script on a folder with the base and then these migrations.
    private static func check(_ migrations: [String]) async throws -> (passes: Bool, said: String) {
        let folder = try TemporaryFolder()
        for (index, sql) in ([base] + migrations).enumerated() {
            try folder.write("\(sql)\n", to: "000\(1 + index)_step.sql")
        }
        let script = URL(filePath: #filePath).appending(path: "../../../../scripts/check-migrations").standardized
        let output = try await Program.run(
            script, [],
            environment: ProcessInfo.processInfo.environment.merging(["MIGRATIONS": folder.path]) { $1 })
        return (output.exitCode == 0, output.text)
    }
}
