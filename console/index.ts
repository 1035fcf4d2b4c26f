/** The parts of the console that the command line and `npm start` use. */
export { type Console, serveConsole } from './console.ts';
export { DeploymentDoor } from './deployment-door.ts';
export type {
  DeliveredEvent as ReceivedEvent,
  LocalDoor,
  LocalTally,
  Provocation,
  Provoking,
  ReceivedMail,
} from './door.ts';
