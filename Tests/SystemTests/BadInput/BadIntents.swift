extension Target {
  /// Steps of intents.
  var badIntents: [BadRequest] {
    let canary = BadRequest.canary
    func post(
      _ name: String, _ step: String, _ body: String, _ status: Int = 422,
      _ code: String = "invalid-request", at pointer: String? = nil
    ) -> BadRequest {
      BadRequest(
        name, .POST, "/v1/intents/\(step)", body, status, code, at: status == 422 ? pointer : nil)
    }
    let recipients = "send-message/resolve-recipients"
    let confirm = "send-message/confirm"
    let handle = "send-message/handle"
    let people = #"[{"userId":"jon"}]"#
    let many = (0..<1000).map { #"{"userId":"u\#($0)"}"# }.joined(separator: ",")
    let long = String(repeating: "x", count: 65_537)
    return [
      post("no phrases", recipients, "{}", at: "/phrases"),
      post(
        "a long phrase", recipients, #"{"phrases":["\#(long.prefix(1025))"]}"#, at: "/phrases/0"),
      post("a type", recipients, #"{"phrases":[],"type":"\#(canary)"}"#, at: "/type"),
      post("0 candidates", recipients, #"{"phrases":[],"limit":0}"#, at: "/limit"),
      post(
        "titles that are numbers", "add-tasks/resolve-task-titles", #"{"phrases":[1]}"#,
        at: "/phrases/0"),
      post(
        "content that is a number", "send-message/resolve-content", #"{"content":1}"#,
        at: "/content"),
      post("nobody", confirm, #"{"recipients":[],"content":"\#(canary)"}"#, at: "/recipients"),
      post(
        "a recipient without a handle", confirm, #"{"recipients":[{}],"content":"x"}"#,
        at: "/recipients/0"),
      post(
        "a person and a conversation", confirm,
        #"{"recipients":[{"userId":"jon"},{"threadId":"\#(thread)"}],"content":"x"}"#,
        at: "/recipients"),
      post(
        "two handles of one", confirm,
        #"{"recipients":[{"userId":"jon","threadId":"\#(thread)"}],"content":"x"}"#,
        at: "/recipients/0"),
      post(
        "1,000 people", confirm, #"{"recipients":[\#(many)],"content":"x"}"#, at: "/recipients"),
      post(
        "nothing to say", confirm, #"{"recipients":\#(people),"content":" \n"}"#, at: "/content"),
      post(
        "too much to say", confirm, #"{"recipients":\#(people),"content":"\#(long)"}"#,
        at: "/content"),
      post(
        "a NUL", confirm, #"{"recipients":\#(people),"content":"a\u0000"}"#, at: "/content"),
      post(
        "no confirmation", handle, #"{"recipients":\#(people),"content":"x"}"#, at: "/confirmation"),
      post(
        "a made-up confirmation", handle,
        #"{"recipients":\#(people),"content":"x","confirmation":"\#(canary)"}"#, 400,
        "bad-confirmation"),
      post(
        "a long confirmation", handle,
        #"{"recipients":\#(people),"content":"x","confirmation":"\#(long)"}"#, 400,
        "bad-confirmation"),
    ]
  }
}
