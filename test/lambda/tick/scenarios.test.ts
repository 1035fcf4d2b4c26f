import { expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';
import * as stories from './scenarios.ts';

it.each([
  ['certifications that appear during a baseline are announced at once', stories.newcomers],
  ['one found on another day is expected there', stories.elsewhere],
  ["ticks that overlap commit no sight from before each other's work", stories.stale],
  ['ticks do not spend their time on the same half of an unprovable range', stories.apart],
  ['a read that was cut off counts no day', stories.vain],
  ['a record as it was before its edit is not announced', stories.behind],
  ['a malformed record among readable ones is expected as counted', stories.rest],
  ['events keep their order while the index does not show the older one', stories.order],
  ['the index is not trusted a minute after a crash, nor an hour of crashes', stories.lag],
  ['a missing certification is looked at twice again after any sighting', stories.seenBetween],
  ['two looks are as far apart as the setting says', stories.looked],
  ['a limited number is withdrawn a day', stories.drip],
  ['a certification that its id shows is not withdrawn', stories.believed],
  ['a removal is found although the total then agrees', stories.leftover],
  ['notes from before too many were missing withdraw nothing', stories.forgottenNotes],
  ['the gate lets no more pass if all ids are replaced and ticks die', stories.replacedAmidDeaths],
  ['the gate counts no change twice that ticks find again', stories.foundAgain],
  ['the gate holds from the first event on if the total announces many', stories.foretold],
  ['held events whose changes are undone are dropped', stories.takenBack],
  ['a total that no day explains is searched for again, ever more rarely', stories.searchedAgain],
  ['an edit far back that is undone is announced once no replica lags', stories.takenBackFarBack],
  ['a huge day is read by ticks that resume where the last one stopped', stories.hugeDay],
  ['a pace is learned by one tick for all', stories.learnedPace],
  ['an audit finds within the hour an edit that no page shows', stories.editedLongAgo],
])('%s', async (_, { tell, seen }) => {
  expect(await tell(new Integration())).toEqual(seen);
});
