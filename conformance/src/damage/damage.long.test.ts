/**
 * Random damage to a running cloud, from a seed: every query after a damage is answered correctly, or with an error that names the damage.
 * The doctor finds each one. Each is undone, and then everything is answered again.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PlatformError } from '@platform/base';
import { rollingSeed } from '@platform/testkit';
import { expect, test } from 'vitest';
import { pauseMs, seededRandom } from '../crash/cloud-under-load.ts';
import { complaints } from './complaints.ts';
import { type Damage, oneOf, type Random } from './damage.ts';
import { catalogDamages, damageCatalog } from './damage-catalog.ts';
import { damageFile, fileDamages } from './damage-files.ts';
import { type FilledCloud, fillCloud, type Question } from './filled-cloud.ts';

const { FAULT_DAMAGES = '60' } = process.env;
const damages = Number(FAULT_DAMAGES);
const seed = rollingSeed();
/** How often the tabular process is killed; the next process must detect the damage without having seen the intact file. */
const killEvery = 40;

interface Tally {
  right: number;
  named: number;
  /** Any other answer: what was queried, and the answer. */
  readonly wrong: string[];
}

test(`D33 none of ${damages} random damages to files and catalog leads to a wrong or partial answer, and the doctor finds all of them`, {
  timeout: 300_000 + damages * 5_000,
}, async () => {
  const random = seededRandom(seed);
  await using filled = await fillCloud(random);
  const { cloud, questions, ask } = filled;
  const parquetDir = join(cloud.directory, 'parquet');
  const files = readdirSync(parquetDir).filter((name) => name.endsWith('.parquet'));
  expect(files.length).toBeGreaterThan(8);
  for (const question of questions) expect(await ask(question), question.name).toBe(question.right);
  expect(await complaints(cloud.directory)).toEqual([]);

  const tally: Tally = { right: 0, named: 0, wrong: [] };
  const background = { right: 0, failed: 0, wrong: [] as string[] };
  let [over, spared] = [false, 0];
  // It is unknown which damage these queries encounter, but their answers must still be correct.
  const asking = askOn(filled, background, () => over);
  for (let i = 0; i < damages; i++) {
    const damage = await strike(cloud.directory, files, random);
    if (damage.sparesWhole === true) spared++;
    if (i % 100 === 99) console.log(`${i + 1} damages: ${tally.wrong.length} wrong`);
    if (i % killEvery === killEvery - 1) for (const pid of cloud.tabularPids()) process.kill(pid, 'SIGKILL');
    const asked = [
      oneOf(
        questions.filter(({ needsAll }) => needsAll),
        random,
      ),
      oneOf(questions, random),
    ];
    await Promise.all(asked.map((question) => check(filled, question, damage, tally)));
    const found = await complaints(cloud.directory);
    if (!damage.names.some((name) => found.some((text) => text.includes(name))))
      tally.wrong.push(`${damage.what}: the doctor found ${JSON.stringify(found)}`);
    await damage.undo();
    const question = oneOf(questions, random);
    const again = await ask(question).catch(String);
    if (again !== question.right)
      tally.wrong.push(`${damage.what}: after it was undone ${question.name}: ${again.slice(0, 300)}`);
  }
  over = true;
  await asking;
  console.log(
    `FAULT_SEED=${seed}: ${damages} damages; ${tally.right} answers right, ${tally.named} errors that name the damage; beside them ${background.right} right, ${background.failed} errors`,
  );
  expect([...tally.wrong, ...background.wrong]).toEqual([]);
  expect(tally.named).toBeGreaterThanOrEqual(damages - spared);
  expect(await complaints(cloud.directory)).toEqual([]);
  for (const question of questions) expect(await ask(question), question.name).toBe(question.right);
});

async function strike(directory: string, files: readonly string[], random: Random): Promise<Damage> {
  // There are more kinds of file damage than of row damage.
  if (random(0, 3) < 1) return damageCatalog(directory, oneOf(catalogDamages, random), random);
  return damageFile(join(directory, 'parquet'), files, oneOf(fileDamages, random), random);
}

async function check(filled: FilledCloud, question: Question, damage: Damage, tally: Tally): Promise<void> {
  try {
    const answer = await filled.ask(question);
    if (answer !== question.right || (question.needsAll && damage.sparesWhole !== true))
      tally.wrong.push(
        `${damage.what}: ${question.name} was answered ${answer === question.right ? '(right)' : answer.slice(0, 300)}`,
      );
    else tally.right++;
  } catch (caught) {
    const isNamed =
      caught instanceof PlatformError &&
      caught.code === 'data_loss' &&
      damage.names.some((name) => caught.message.includes(name));
    if (isNamed) tally.named++;
    else tally.wrong.push(`${damage.what}: ${question.name} failed with ${String(caught)}`);
  }
}

/** Runs queries one after another until told to stop. */
async function askOn(
  { questions, ask }: FilledCloud,
  background: { right: number; failed: number; wrong: string[] },
  over: () => boolean,
): Promise<void> {
  for (let i = 0; !over(); i++) {
    const question = questions[i % questions.length] as Question;
    try {
      const answer = await ask(question);
      if (answer === question.right) background.right++;
      else background.wrong.push(`beside the damages: ${question.name} was answered ${answer.slice(0, 300)}`);
    } catch (caught) {
      // A query fails if a file changes repeatedly while it is read.
      const code = caught instanceof PlatformError ? caught.code : undefined;
      if (code === 'data_loss' || code === 'unavailable') background.failed++;
      else background.wrong.push(`beside the damages: ${question.name} failed with ${String(caught)}`);
    }
    await pauseMs(50);
  }
}
