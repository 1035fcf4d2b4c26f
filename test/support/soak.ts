/** Whether this is `npm run soak`, which has hours where `npm test` has minutes. */
export const isSoak = process.env.SOAK === '1';
