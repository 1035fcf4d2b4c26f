/** What the command line and `npm start` take of the console. */
export { type Console, serveConsole } from './console.ts';
export { DeploymentDoor } from './deployment-door.ts';
export type {
  LocalDoor,
  LocalTally,
  Provocation,
  Provoking,
  ReceivedEvent,
  ReceivedMail,
} from './door.ts';
