/// The SQL files of this folder as a module. The plugin EmbedMigrations adds `all`: names without `.sql` and texts, in
/// order of their numbers.
package enum MigrationFiles {}
