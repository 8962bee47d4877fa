/// A token that a team manages itself, with its app and environment.
package struct TokenAddress: Sendable, Hashable {
    package var app: AppEnvironment
    package var token: DeviceToken

    package init(app: AppEnvironment, token: DeviceToken) {
        self.app = app
        self.token = token
    }
}
