package worker;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The event in a message; docs/subscribing.md has the rules.
 *
 * @param data null: the event is of a later version than this program, which acknowledges it and does nothing
 */
public record Event(
    String type, String id, String source, String subject, long sequence, JsonNode data) {

  /** The message holds no event. The text names a field and never a value, so it is safe to log. */
  public static final class NotAnEvent extends RuntimeException {
    NotAnEvent(String problem) {
      super(problem);
    }
  }

  private static final String SCHEMA = "urn:certification-notifier:schema:certification-event:1";
  private static final Set<String> TYPES =
      Set.of(
          "certification.created",
          "certification.updated",
          "certification.withdrawn",
          "certification.restored",
          "certification.test");
  private static final List<String> TEXTS =
      List.of("specversion", "type", "id", "source", "subject", "sequence", "dataschema");
  private static final Pattern WHOLE_NUMBER = Pattern.compile("[1-9][0-9]{0,17}");
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  /** Takes the body of an SQS message: with raw delivery, or in SNS's envelope. */
  public static Event parse(String body) {
    JsonNode content = object(body);
    if (!content.has("specversion") && content.path("Message").isTextual())
      content = object(content.get("Message").textValue());
    for (String name : TEXTS)
      if (!content.path(name).isTextual()) throw new NotAnEvent(name + " is no text");
    if (!text(content, "specversion").equals("1.0"))
      throw new NotAnEvent("specversion is not 1.0");
    if (!text(content, "source").startsWith("urn:certification-notifier:"))
      throw new NotAnEvent("source is not certification-notifier");
    if (!WHOLE_NUMBER.matcher(text(content, "sequence")).matches())
      throw new NotAnEvent("sequence is no whole number");
    boolean known =
        TYPES.contains(text(content, "type")) && text(content, "dataschema").equals(SCHEMA);
    return new Event(
        text(content, "type"),
        text(content, "id"),
        text(content, "source"),
        text(content, "subject"),
        Long.parseLong(text(content, "sequence")),
        known ? checked(content.path("data")) : null);
  }

  private static JsonNode object(String text) {
    try {
      JsonNode content = JSON.readTree(text);
      if (content != null && content.isObject()) return content;
    } catch (JsonProcessingException unreadable) {
      // Without the cause, which quotes the text.
      throw new NotAnEvent("no JSON");
    }
    throw new NotAnEvent("no JSON object");
  }

  private static String text(JsonNode content, String name) {
    return content.get(name).textValue();
  }

  /** Checks what this example reads. The JSON Schema checks all. */
  private static JsonNode checked(JsonNode data) {
    if (!data.path("assessment").path("id").isIntegralNumber())
      throw new NotAnEvent("data.assessment.id is no whole number");
    if (!data.path("assessment").path("certified_on").isTextual())
      throw new NotAnEvent("data.assessment.certified_on is no text");
    return data;
  }
}
