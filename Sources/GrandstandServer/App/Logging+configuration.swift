package import Logging

extension Configuration {
    /// The logger of the whole server. It writes to standard error.
    package func makeLogger() -> Logger {
        var logger = Logger(label: "grandstand") { label in
            switch self.logFormat {
            case .text: StreamLogHandler(label: label, stream: LogStream())
            case .json: JSONLogHandler(label: label)
            }
        }
        logger.logLevel = self.logLevel
        return logger
    }
}
