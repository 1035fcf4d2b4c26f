import en from 'zod/v4/locales/en.js';

/**
 * For parsing what somebody reads the problems of: zod/mini by itself says "Invalid input" to
 * everything. It names types and bounds, never what was received in their place.
 */
export const inEnglish = { error: en().localeError };
