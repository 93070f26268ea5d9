/**
 * The draft of a part's configuration.
 *
 * States: loading → clean (as saved) ⇄ dirty → saving → clean. If someone else has saved in the meantime, saving → dirty on the newest
 * version: their changes are merged into the draft, and the person decides each conflict.
 */
import { Code, ConnectError } from '@connectrpc/connect';
import { AppService } from '@platform/proto/platform/app/v1/app';
import {
  type ConfigurationProblem,
  FleetService,
  type GetConfigurationVersionResponse,
} from '@platform/proto/platform/fleet/v1/fleet';
import { clientOf } from '../api/clients.ts';
import { objectOf } from '../api/object-of.ts';
import { type Problem, problemOf, problemOfAction } from '../api/problem.ts';
import { untilReached } from '../api/until-reached.ts';
import { documentOf, textOf } from '../configure/document.ts';
import { type Conflict, merge, withTheirs } from '../configure/merge.ts';
import { debounce } from '../ui/debounce.ts';
import { keep, readKept } from '../ui/kept.ts';

const app = clientOf(AppService);
const fleet = clientOf(FleetService);
const validateAfterMs = 400;
const checkAgainAfterMs = 2_000;

/** What someone else saved while the draft was edited, and the result of the merge. */
export interface Rebased {
  readonly by: string;
  readonly taken: readonly string[];
  readonly conflicts: readonly Conflict[];
}

export function formatJson(text: string): string {
  try {
    return `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  } catch {
    return text;
  }
}

export class Draft {
  readonly partId: string;
  readonly mayEdit: boolean;
  /** The saved version that the draft is compared with. */
  base = $state.raw<GetConfigurationVersionResponse>();
  text = $state('');
  problems = $state.raw<readonly ConfigurationProblem[]>([]);
  problem = $state.raw<Problem>();
  saving = $state(false);
  /** Set once someone else's newer version was merged into the draft. */
  rebased = $state.raw<Rebased>();
  /** The draft was left without saving, and is shown again. */
  isKept = $state(false);
  /** The problem is that of the last check, which the next check removes. */
  #isOfCheck = false;
  readonly #left: AbortSignal;
  readonly #validate = debounce(validateAfterMs, () => {
    this.keep();
    return this.#check();
  });
  readonly #checkLater = debounce(checkAgainAfterMs, () => this.#check());

  /**
   * @param mayEdit whether the person owns the machine: only owners may have a document checked, and save it
   * @param left ends what waits for the cloud, when the page is left
   */
  constructor(partId: string, { mayEdit, left }: { readonly mayEdit: boolean; readonly left: AbortSignal }) {
    [this.partId, this.mayEdit, this.#left] = [partId, mayEdit, left];
  }

  get saved(): string {
    return formatJson(this.base?.document || '{}');
  }

  get isDirty(): boolean {
    return this.base !== undefined && this.text !== this.saved;
  }

  get isJson(): boolean {
    return documentOf(this.text) !== undefined;
  }

  /** Loads the saved version, and the draft of it that was left without saving, if any. */
  async open(): Promise<void> {
    const kept = readDraft(this.partId);
    await this.load();
    if (kept === undefined || this.base === undefined || kept.text === this.saved) return;
    this.isKept = true;
    if (Number(this.#version) === kept.version) this.edit(kept.text);
    else await this.#rebase(kept.text, BigInt(kept.version));
  }

  get #version(): bigint {
    return this.base?.version?.version ?? 0n;
  }

  /** Waits for a cloud that does not answer. */
  async load(): Promise<void> {
    try {
      this.base = await untilReached(() => fleet.getConfigurationVersion({ partId: this.partId }), {
        signal: this.#left,
        away: (problem) => {
          this.problem = problem;
        },
      });
      this.text = this.saved;
      [this.problem, this.rebased, this.problems] = [undefined, undefined, []];
      this.keep();
      void this.#check();
    } catch (caught) {
      this.problem = problemOf(caught);
    }
  }

  edit(text: string): void {
    this.text = text;
    this.#validate();
  }

  discard(): void {
    [this.rebased, this.isKept] = [undefined, false];
    this.edit(this.saved);
  }

  /** Merges what someone else has saved in the meantime. */
  async rebase(): Promise<void> {
    if (this.isDirty) await this.#rebase(this.text, this.#version);
    else await this.load();
  }

  decide(conflict: Conflict, choice: 'mine' | 'theirs'): void {
    const document = documentOf(this.text);
    if (this.rebased === undefined || document === undefined) return;
    this.rebased = { ...this.rebased, conflicts: this.rebased.conflicts.filter((one) => one !== conflict) };
    if (choice === 'theirs') this.edit(textOf(withTheirs(document, conflict)));
  }

  /** @param version the version that the text is based on */
  async #rebase(text: string, version: bigint): Promise<void> {
    try {
      const begun = version === 0n ? undefined : await fleet.getConfigurationVersion({ partId: this.partId, version });
      this.base = await fleet.getConfigurationVersion({ partId: this.partId });
      const mine = documentOf(text);
      const { author, version: newest } = this.base.version ?? {};
      const by = `${author?.name || author?.kind || 'Someone'} saved version ${newest}`;
      if (mine === undefined) {
        // Invalid JSON cannot be merged: the text stays as it is, and is compared with the newest version.
        this.rebased = { by, taken: [], conflicts: [] };
        this.edit(text);
        return;
      }
      const { document, taken, conflicts } = merge({
        base: documentOf(begun?.document ?? '{}') ?? {},
        mine,
        theirs: documentOf(this.base.document || '{}') ?? {},
      });
      this.rebased = { by, taken, conflicts };
      this.edit(textOf(document));
    } catch (caught) {
      this.problem = problemOf(caught);
    }
  }

  /** So that a reload finds it. */
  keep(): void {
    keepDraft(this.partId, this.isDirty ? { version: Number(this.#version), text: this.text } : undefined);
  }

  async #check(): Promise<void> {
    if (!this.mayEdit || !this.isJson) return;
    const asked = this.text;
    try {
      const { problems } = await fleet.validateConfiguration({ partId: this.partId, document: asked });
      if (asked === this.text) this.problems = problems;
      if (this.#isOfCheck) [this.problem, this.#isOfCheck] = [undefined, false];
    } catch (caught) {
      [this.problem, this.#isOfCheck] = [problemOf(caught), true];
      if (this.problem?.isAway && !this.#left.aborted) this.#checkLater();
    }
  }

  /** True once it is saved. */
  async save(): Promise<boolean> {
    this.saving = true;
    [this.problem, this.#isOfCheck] = [undefined, false];
    try {
      const savedAt = this.base?.version?.version === 0n ? undefined : this.base?.version?.savedAt;
      await app.updateRobotPart({
        id: this.partId,
        robotConfigJson: this.text,
        ...(savedAt !== undefined && { lastKnownUpdate: savedAt }),
      });
      this.isKept = false;
      await this.load();
      return true;
    } catch (caught) {
      if (ConnectError.from(caught).code === Code.Aborted) await this.rebase();
      else this.problem = problemOfAction(caught);
      return false;
    } finally {
      this.saving = false;
    }
  }
}

interface KeptDraft {
  /** The version that it is based on. */
  readonly version: number;
  readonly text: string;
}

const keyOf = (partId: string): string => `draft of ${partId}`;

/** The draft of a configuration that was left without saving. */
function readDraft(partId: string): KeptDraft | undefined {
  const { version, text } = objectOf(readKept(keyOf(partId)));
  return typeof version === 'number' && typeof text === 'string' ? { version, text } : undefined;
}

/** Undefined forgets it. */
function keepDraft(partId: string, draft: KeptDraft | undefined): void {
  keep(keyOf(partId), draft);
}
