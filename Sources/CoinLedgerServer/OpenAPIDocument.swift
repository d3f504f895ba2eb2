import HTTPServer

/// The OpenAPI 3.1 description of the API, served as it was written.
package enum OpenAPIDocument {
    /// UTF-8 JSON.
    package static let bytes = PackageResources.openapi_json

    static let response = HTTPResponse(
        status: 200, headers: [("Content-Type", "application/json")], body: bytes)
}
