package worker;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;

/**
 * Decides which events are handled and which are skipped: the rules of
 * docs/subscribing.md#duplicates-and-order.
 *
 * <p>A DynamoDB table remembers. Its items are those of {@code dynamoStore} in
 * certification-notifier/consumer, so workers in TypeScript, Python and Java can share one table.
 */
public final class Handling {

  /** Another worker is handling this. Leave the message in its queue: it comes again. */
  public static final class InHand extends RuntimeException {}

  /**
   * The handler took longer than its claim, and another worker began. It may have been handled
   * twice.
   */
  public static final class ClaimLost extends RuntimeException {}

  private final DynamoDbClient dynamodb;
  private final String table;
  private final String consumer;
  private final Duration claimFor;

  /**
   * @param consumer names the task: workers that share it share the memory
   * @param claimFor how long a handler may take; when a worker dies, its event is handled again
   *     after that
   */
  public Handling(DynamoDbClient dynamodb, String table, String consumer, Duration claimFor) {
    if (!consumer.matches("[A-Za-z0-9_.-]{1,64}"))
      throw new IllegalArgumentException(
          "consumer must be 1 to 64 letters, digits, '.', '_' and '-'");
    this.dynamodb = dynamodb;
    this.table = table;
    this.consumer = consumer;
    this.claimFor = claimFor;
  }

  /**
   * Handles each event once, by its id. For a worker that acts on each event, such as one that
   * sends letters.
   */
  public String once(Event event, Consumer<Event> handler) {
    return handle("event " + event.id(), 1, event, handler) ? "handled" : "duplicate";
  }

  /**
   * Handles an event only if its revision is newer than the last one handled of its assessment. For
   * a worker that keeps the current state. A duplicate is outdated, too.
   */
  public String inOrder(Event event, Consumer<Event> handler) {
    String key = "subject " + event.source() + " " + event.subject();
    return handle(key, event.sequence(), event, handler) ? "handled" : "outdated";
  }

  private boolean handle(String key, long position, Event event, Consumer<Event> handler) {
    String owner = UUID.randomUUID().toString();
    if (!claim(key, position, owner)) {
      if (handledUpTo(key) >= position) return false;
      throw new InHand();
    }
    try {
      handler.accept(event);
    } catch (Throwable failure) {
      try {
        giveUp(key, owner);
      } catch (RuntimeException unsettled) {
        // The claim ends by itself, and the handler's failure matters more.
        failure.addSuppressed(unsettled);
      }
      throw failure;
    }
    if (!settle(key, position, owner)) throw new ClaimLost();
    return true;
  }

  private boolean claim(String key, long position, String owner) {
    Instant now = Instant.now();
    return update(
        key,
        "SET #owner = :owner, #until = :until",
        // The owner's own claim is a retry by the SDK, whose first answer was lost.
        "(attribute_not_exists(#handled) OR #handled < :position)"
            + " AND (attribute_not_exists(#owner) OR #until <= :now OR #owner = :owner)",
        Map.of("#handled", "handled"),
        Map.of(
            ":owner", AttributeValue.fromS(owner),
            ":until", milliseconds(now.plus(claimFor)),
            ":now", milliseconds(now),
            ":position", number(position)));
  }

  private boolean settle(String key, long position, String owner) {
    return update(
        key,
        "SET #until = :now, #handled = :position",
        "#owner = :owner",
        Map.of("#handled", "handled"),
        Map.of(
            ":owner", AttributeValue.fromS(owner),
            ":now", milliseconds(Instant.now()),
            ":position", number(position)));
  }

  private void giveUp(String key, String owner) {
    update(
        key,
        "SET #until = :now",
        "#owner = :owner",
        Map.of(),
        Map.of(
            ":owner", AttributeValue.fromS(owner), ":now", milliseconds(Instant.now())));
  }

  /** Returns false where the condition does not hold. */
  private boolean update(
      String key,
      String update,
      String condition,
      Map<String, String> furtherNames,
      Map<String, AttributeValue> values) {
    Map<String, String> names = new HashMap<>(furtherNames);
    names.put("#owner", "claim_owner");
    names.put("#until", "claim_until");
    try {
      dynamodb.updateItem(
          request ->
              request
                  .tableName(table)
                  .key(item(key))
                  .updateExpression(update)
                  .conditionExpression(condition)
                  .expressionAttributeNames(names)
                  .expressionAttributeValues(values));
      return true;
    } catch (ConditionalCheckFailedException refused) {
      return false;
    }
  }

  private long handledUpTo(String key) {
    AttributeValue handled =
        dynamodb
            .getItem(request -> request.tableName(table).key(item(key)).consistentRead(true))
            .item()
            .get("handled");
    return handled == null ? 0 : Long.parseLong(handled.n());
  }

  private Map<String, AttributeValue> item(String key) {
    return Map.of("pk", AttributeValue.fromS("HANDLED#" + consumer + "#" + key));
  }

  private static AttributeValue milliseconds(Instant instant) {
    return number(instant.toEpochMilli());
  }

  private static AttributeValue number(long value) {
    return AttributeValue.fromN(Long.toString(value));
  }
}
