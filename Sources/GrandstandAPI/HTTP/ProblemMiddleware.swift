internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// Turns whatever a route throws into a problem, and names every answer with its request ID.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = APIContext

    let table: RouteTable

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let problem as Problem {
            response = problem.response(requestID: context.requestID)
        } catch let error as HTTPError {
            response = translate(error, request).response(requestID: context.requestID)
            if error.status == .notFound, let allowed = table.methods(at: request.uri.path) {
                response.headers[.allow] = allowed.map(\.rawValue).joined(separator: ", ")
            }
        } catch {
            context.logger.error(
                "a request failed",
                metadata: ["request-id": "\(context.requestID)", "path": "\(request.uri.path)", "error": "\(error)"])
            response = Problem(
                .internalError, "The request failed; the log names it \(context.requestID)."
            ).response(requestID: context.requestID)
        }
        response.headers[.xRequestID] = context.requestID
        return response
    }

    private func translate(_ error: HTTPError, _ request: Request) -> Problem {
        switch error.status {
        case .notFound:
            guard let allowed = table.methods(at: request.uri.path) else {
                return Problem(.notFound, "There is nothing at \(request.uri.path).")
            }
            let names = allowed.map(\.rawValue).joined(separator: ", ")
            return Problem(.methodNotAllowed, "\(request.uri.path) takes \(names), not \(request.method.rawValue).")
        case .contentTooLarge:
            return Problem(.bodyTooLarge, "The body may have 65536 bytes at most.")
        default:
            return Problem(.invalidRequest, error.body ?? "The request cannot be understood.")
        }
    }
}

extension HTTPField.Name {
    /// Names the request in answers, problems and logs. The literal is a token of RFC 9110, so it has a name.
    static let xRequestID = HTTPField.Name("X-Request-Id")!
}
