export { isDigestDue } from './deliver.ts';
