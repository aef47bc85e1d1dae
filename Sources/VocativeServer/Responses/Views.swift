import HTTPTypes
import Hummingbird
import NIOCore
import VocativeModel
import VocativeStorage

/// Answers in JSON, written by hand: pages are the service's hot path.
extension Response {
  static func json(
    _ status: HTTPResponse.Status = .ok, reserving capacity: Int = 512,
    _ write: (inout JSONWriter) -> Void
  ) -> Response {
    var json = JSONWriter(reservingCapacity: capacity)
    write(&json)
    return Response(
      status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.utf8)))
  }
}

extension EntryRecord {
  /// Writes the entry as a user may see it.
  func write(to json: inout JSONWriter, for viewer: UserID) {
    json.beginObject()
    json.name("id")
    json.value(id.uuid)
    json.name("threadId")
    json.value(threadID.uuid)
    json.name("seq")
    json.value(seq)
    json.name("createdSeq")
    json.value(createdSeq)
    json.name("senderId")
    json.value(senderID.string)
    json.name("kind")
    json.value(kind)
    if let text {
      json.name("text")
      json.value(text)
    }
    json.name("sentAt")
    json.value(sentAt)
    json.name("receivedAt")
    json.value(receivedAt)
    if let editedAt {
      json.name("editedAt")
      json.value(editedAt)
    }
    if deleted {
      json.name("deleted")
      json.value(true)
    }
    if let replyTo {
      json.name("replyTo")
      json.value(replyTo.uuid)
    }
    if let recipients {
      Recipients(recipients).write(to: &json, sender: senderID, viewer: viewer)
    }
    if let attachments {
      json.name("attachments")
      json.value(json: attachments)
    }
    if let system {
      json.name("system")
      json.value(json: system)
    }
    json.endObject()
  }
}

extension ParticipantRecord {
  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.name("userId")
    json.value(userID.string)
    json.name("role")
    json.value(role)
    if let name {
      json.name("name")
      json.value(json: name)
    }
    json.endObject()
  }
}

extension ThreadRecord {
  func write(to json: inout JSONWriter) {
    json.beginObject()
    writeMembers(to: &json)
    json.endObject()
  }

  /// The members of the thread, for an object that has further ones.
  func writeMembers(to json: inout JSONWriter) {
    json.name("id")
    json.value(id.uuid)
    json.name("kind")
    json.value(kind)
    if let subject {
      json.name("subject")
      json.value(subject)
    }
    json.name("history")
    json.value(history)
    json.name("createdAt")
    json.value(createdAt)
    json.name("lastActivityAt")
    json.value(lastActivityAt)
    json.name("seq")
    json.value(seq)
    json.name("unreadCount")
    json.value(unreadCount)
    json.name("readUpTo")
    json.value(readUpTo)
    json.name("visibleFrom")
    json.value(visibleFrom)
    json.name("participants")
    json.beginArray()
    for participant in participants { participant.write(to: &json) }
    json.endArray()
  }
}

extension FeedStore.Page {
  /// Writes the page; `token` is its `next`.
  func write(to json: inout JSONWriter, for viewer: UserID, token: String) {
    json.beginObject()
    json.name("threads")
    json.beginArray()
    for changed in threads { changed.write(to: &json, for: viewer) }
    json.endArray()
    json.name("vocabulary")
    json.value(json: vocabulary ?? Array("{}".utf8))
    json.name("next")
    json.value(token)
    json.name("hasMore")
    json.value(hasMore)
    json.endObject()
  }
}

extension FeedStore.ChangedThreadRecord {
  func write(to json: inout JSONWriter, for viewer: UserID) {
    json.beginObject()
    defer { json.endObject() }
    if removed {
      json.name("id")
      json.value(thread.id.uuid)
      json.name("removed")
      json.value(true)
      return
    }
    thread.writeMembers(to: &json)
    if !formerParticipants.isEmpty {
      json.name("formerParticipants")
      json.beginArray()
      for participant in formerParticipants { participant.write(to: &json) }
      json.endArray()
    }
    json.name("entries")
    json.beginArray()
    for entry in entries { entry.write(to: &json, for: viewer) }
    json.endArray()
    json.name("entriesFrom")
    json.value(entriesFrom)
    json.name("entriesTo")
    json.value(thread.seq)
  }
}
