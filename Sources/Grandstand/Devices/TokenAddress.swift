/// One token of a team's own, and the app and environment it is of.
package struct TokenAddress: Sendable, Hashable {
    package var app: AppEnvironment
    package var token: DeviceToken

    package init(app: AppEnvironment, token: DeviceToken) {
        self.app = app
        self.token = token
    }
}
