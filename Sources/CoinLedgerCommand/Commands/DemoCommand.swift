import EventLoop

/// `coinledger demo`
enum DemoCommand {
    static let subcommand = Subcommand(
        "demo", summary: "Plays the flow of a purchase against a running coinledger dev.",
        options: [DevCommand.data]
    ) { _ in 0 }
}
