package worker;

import java.time.Duration;
import java.util.List;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;

/**
 * Takes events out of a queue. With ACT_ON=each it acts on each event once, as for letters; without,
 * it keeps the newest of each assessment, as for a copy. Any number of these may run side by side.
 */
public final class Worker {

  public static void main(String[] arguments) throws InterruptedException {
    String queueUrl = System.getenv("QUEUE_URL");
    String table = System.getenv("TABLE_NAME");
    if (queueUrl == null || table == null) {
      System.err.println("QUEUE_URL and TABLE_NAME have to be set.");
      System.exit(1);
    }
    new Worker(SqsClient.create(), DynamoDbClient.create(), queueUrl, table).run();
  }

  private final SqsClient sqs;
  private final String queueUrl;
  private final Handling handling;
  private final boolean actsOnEach = "each".equals(System.getenv("ACT_ON"));
  private volatile boolean stopping = false;
  private volatile boolean waiting = false;

  Worker(SqsClient sqs, DynamoDbClient dynamodb, String queueUrl, String table) {
    this.sqs = sqs;
    this.queueUrl = queueUrl;
    // The third argument names this task: workers with another task and this table need another.
    this.handling = new Handling(dynamodb, table, "java-worker", Duration.ofMinutes(5));
  }

  void run() throws InterruptedException {
    Thread worker = Thread.currentThread();
    // SIGINT and SIGTERM: a wait ends with the process, a handler comes to its end first.
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  stopping = true;
                  try {
                    if (!waiting) worker.join();
                  } catch (InterruptedException end) {
                    // The process ends.
                  }
                }));
    System.out.println("Waiting for events in " + queueUrl);
    while (!stopping) {
      waiting = true;
      List<Message> messages = receive();
      waiting = false;
      for (Message message : messages) if (!stopping) work(message);
    }
  }

  private List<Message> receive() throws InterruptedException {
    try {
      // One at a time: the visibility timeout of a batch's last message would run while the others
      // are handled.
      return sqs.receiveMessage(
              request -> request.queueUrl(queueUrl).maxNumberOfMessages(1).waitTimeSeconds(20))
          .messages();
    } catch (RuntimeException error) {
      // SQS is away for a moment, or this worker may not read (yet). It goes on when that is over.
      System.err.println("not received: " + error.getClass().getSimpleName());
      Thread.sleep(5_000);
      return List.of();
    }
  }

  private void work(Message message) {
    try {
      Event event = Event.parse(message.body());
      String outcome =
          actsOnEach
              ? handling.once(event, Handle::handle)
              : handling.inOrder(event, Handle::handle);
      if (!outcome.equals("handled")) System.out.println(outcome + "  " + event.id());
      sqs.deleteMessage(
          request -> request.queueUrl(queueUrl).receiptHandle(message.receiptHandle()));
    } catch (RuntimeException error) {
      // The message stays in the queue, comes again after the visibility timeout, and in the end
      // goes to the dead-letter queue. Only the error's name is logged: its text could quote the
      // event. An event that was handled, and could not be deleted, comes again and is skipped.
      System.err.println("not done with: " + error.getClass().getSimpleName());
    }
  }
}
