package worker;

import com.fasterxml.jackson.databind.JsonNode;

/** Your part. */
final class Handle {

  /**
   * When it returns, the event is done with; when it throws, the event comes again. It may run twice
   * for one event if a worker dies in the middle, so give {@code event.id()} to the services it
   * calls.
   */
  static void handle(Event event) {
    if (event.data() == null) {
      // Of a later version than this program. Done with, or it would come for ever.
      System.out.println(event.type() + " is not known here  " + event.id());
      return;
    }
    JsonNode assessment = event.data().get("assessment");
    String told =
        switch (event.type()) {
          case "certification.created", "certification.updated", "certification.restored" ->
              // No name: more people read a log than a record, and it is kept longer.
              assessment.path("assessment_name").asText()
                  + ", "
                  + assessment.get("certified_on").asText();
          case "certification.withdrawn" -> "assessment " + assessment.get("id");
          default -> "it works";
        };
    System.out.println(event.type() + "  " + told + "  " + event.id());
  }

  private Handle() {}
}
