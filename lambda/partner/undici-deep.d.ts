// undici ships types for its front door only. The deep import is the same class: see
// docs/decisions/0003-undici-deep-import.md.
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
