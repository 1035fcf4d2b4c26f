import type { Clock } from '../clock.ts';
import type { AuditPeriods } from '../detection/due.ts';
import type { Announcer } from '../ports/announcer.ts';
import type { Journal } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';
import type { Rules } from './rules.ts';

export interface TickSettings {
  /** Name of the integration. */
  readonly name: string;
  /** IANA name of the partner's time zone. */
  readonly timeZone: string;
  /** Days before today that belong to the recent window. */
  readonly recentDays: number;
  readonly audit: AuditPeriods & {
    /** Requests that the audits of one tick may make. */
    readonly requests: number;
  };
  /** More changes of a kind than this within an hour, or edits within one round of the audits, are held for ops to release. */
  readonly holdAbove: number;
  /** A certification is withdrawn when a read that began so long after it was missed first lacks it, too. */
  readonly withdrawAfterMs: number;
  /** What the baseline announces: nothing, what was completed on a day or later, or everything. */
  readonly announce: 'none' | 'all' | { readonly since: string };
  /** Who reads what is dated before the baseline's start day: the ticks, or tasks beside them. */
  readonly baseline?: 'tick' | 'fan-out' | undefined;
  /** What of an assessment an event carries; the identifiers always. */
  readonly fields: 'all' | 'identifiers' | readonly string[];
  readonly alerts: AlertSettings;
  /** As commands in notices call them. */
  readonly resources: {
    /** Name of the stack. */
    readonly stack: string;
    /** ARN or name of the credentials' secret. */
    readonly secret: string;
  };
}

/** How people are told. */
export interface AlertSettings {
  /** Whether a digest names people or only counts. */
  readonly detail: 'names' | 'counts';
  /** Rows of one digest; the rest is counted. */
  readonly maxRows: number;
  /** Minutes that one digest collects; undefined: every tick has its own. */
  readonly digestEvery?: number | undefined;
  /** Times of day (`HH:MM`, in the integration's time zone) between which no digest is sent. */
  readonly quietHours?: { readonly from: string; readonly to: string } | undefined;
}

/** What a tick works with. */
export interface TickParts {
  readonly settings: TickSettings;
  readonly rules: Rules;
  readonly clock: Clock;
  readonly partner: PartnerReader;
  readonly ledger: Ledger;
  readonly announcer: Announcer;
  readonly journal: Journal;
}
