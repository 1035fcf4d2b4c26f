import type { Section } from '../check.ts';
import { addsUp } from '../comparing.ts';

const status = 'filter[user_record_status][]';
const legacy = 'filter[legacy_record][]';

export const states: Section = {
  id: '3',
  title: 'States',
  checks: [
    {
      name: 'an educator record is either active or archived',
      run: (samples) =>
        addsUp(samples, { [status]: ['active', 'archived'] }, [
          { [status]: 'active' },
          { [status]: 'archived' },
        ]),
    },
    {
      name: 'a record is either migrated or natively created',
      run: (samples) => addsUp(samples, {}, [{ [legacy]: 'true' }, { [legacy]: 'false' }]),
    },
  ],
};
