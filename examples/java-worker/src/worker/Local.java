package worker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.sns.SnsClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * For trying it out: connects to a certification-notifier that runs on this machine ({@code npm
 * start} in its folder), makes a queue there, subscribes it, makes a table, and starts the worker.
 * On AWS, start Worker, delete this file, and take `sns` out of pom.xml.
 */
final class Local {
  private static final String NAME = "java-worker";

  public static void main(String[] arguments) throws InterruptedException {
    JsonNode poll = localFunction();
    SqsClient sqs = connected(SqsClient.builder(), poll, "AWS_ENDPOINT_URL_SQS");
    SnsClient sns = connected(SnsClient.builder(), poll, "AWS_ENDPOINT_URL_SNS");
    DynamoDbClient dynamodb = connected(DynamoDbClient.builder(), poll, "AWS_ENDPOINT_URL_DYNAMODB");

    String path =
        URI.create(sqs.createQueue(request -> request.queueName(NAME)).queueUrl()).getPath();
    // The embedded SQS names its queues by a host that not every machine resolves.
    String queueUrl = poll.get("AWS_ENDPOINT_URL_SQS").asText() + path;
    String queueArn =
        sqs.getQueueAttributes(
                request -> request.queueUrl(queueUrl).attributeNames(QueueAttributeName.QUEUE_ARN))
            .attributes()
            .get(QueueAttributeName.QUEUE_ARN);
    sns.subscribe(
        request ->
            request
                .topicArn(poll.get("EVENTS_TOPIC_ARN").asText())
                .protocol("sqs")
                .endpoint(queueArn)
                .attributes(Map.of("RawMessageDelivery", "true")));
    try {
      dynamodb.createTable(
          request ->
              request
                  .tableName(NAME)
                  .billingMode(BillingMode.PAY_PER_REQUEST)
                  .keySchema(
                      KeySchemaElement.builder().attributeName("pk").keyType(KeyType.HASH).build())
                  .attributeDefinitions(
                      AttributeDefinition.builder()
                          .attributeName("pk")
                          .attributeType(ScalarAttributeType.S)
                          .build()));
    } catch (ResourceInUseException made) {
      // By an earlier start.
    }
    new Worker(sqs, dynamodb, queueUrl, NAME).run();
  }

  /** The environment of a function of the local instance: region, endpoints, credentials. */
  private static JsonNode localFunction() {
    String named = System.getenv("NOTIFIER_LOCAL");
    Path folder = Path.of(named == null || named.isEmpty() ? "../../.local" : named);
    JsonNode functions = null;
    try {
      functions =
          new ObjectMapper()
              .readTree(folder.resolve("instance.json").toFile())
              .path("aws")
              .path("functions");
    } catch (IOException none) {
      System.err.println(
          "Start certification-notifier first (`npm start` in its folder), or start Worker with QUEUE_URL.");
      System.exit(1);
    }
    for (JsonNode function : functions) if (function.has("EVENTS_TOPIC_ARN")) return function;
    System.err.println("certification-notifier is still starting. Try again in a moment.");
    System.exit(1);
    throw new IllegalStateException();
  }

  private static <Builder extends AwsClientBuilder<Builder, Client>, Client> Client connected(
      Builder builder, JsonNode poll, String endpoint) {
    return builder
        .endpointOverride(URI.create(poll.get(endpoint).asText()))
        .region(Region.of(poll.get("AWS_REGION").asText()))
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsBasicCredentials.create(
                    poll.get("AWS_ACCESS_KEY_ID").asText(),
                    poll.get("AWS_SECRET_ACCESS_KEY").asText())))
        .build();
  }

  private Local() {}
}
