import type { DigestOptions } from '../../../lambda/delivery/digest.ts';

export const mailOptions: DigestOptions = {
  integration: 'district-a',
  timeZone: 'UTC',
  stack: 'prod',
  detail: 'names',
  maxRows: 60,
};
