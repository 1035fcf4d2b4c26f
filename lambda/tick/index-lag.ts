export { indexLagMinutes } from '../detection/index-lag.ts';
