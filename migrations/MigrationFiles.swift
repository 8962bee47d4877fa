/// The SQL files of this folder as a module. The plugin EmbedMigrations adds `all`: their names without `.sql`, and their
/// text, in order of their numbers.
package enum MigrationFiles {}
