/**
 * The draft of a part's configuration.
 *
 * States: loading → clean (as saved) ⇄ dirty → saving → clean; saving → stale if somebody else has saved meanwhile: the draft stays, and is
 * compared with the newest version.
 */

import { Code, ConnectError } from '@connectrpc/connect';
import { AppService } from '@platform/proto/platform/app/v1/app';
import {
  type ConfigurationProblem,
  FleetService,
  type GetConfigurationVersionResponse,
} from '@platform/proto/platform/fleet/v1/fleet';
import { clientOf } from '../api/clients.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { settled } from '../ui/settled.ts';

const app = clientOf(AppService);
const fleet = clientOf(FleetService);
const validateAfterMs = 400;

export function formatJson(text: string): string {
  try {
    return `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  } catch {
    return text;
  }
}

export class Draft {
  readonly partId: string;
  /** As it was saved; the draft is compared with it. */
  base = $state.raw<GetConfigurationVersionResponse>();
  text = $state('');
  problems = $state.raw<readonly ConfigurationProblem[]>([]);
  problem = $state.raw<Problem>();
  saving = $state(false);
  /** Somebody else has saved a newer version. */
  stale = $state(false);
  readonly #validate = settled(validateAfterMs, () => this.#check());

  constructor(partId: string) {
    this.partId = partId;
  }

  get saved(): string {
    return formatJson(this.base?.document || '{}');
  }

  get isDirty(): boolean {
    return this.base !== undefined && this.text !== this.saved;
  }

  get isJson(): boolean {
    try {
      return typeof JSON.parse(this.text) === 'object';
    } catch {
      return false;
    }
  }

  async load(): Promise<void> {
    try {
      this.base = await fleet.getConfigurationVersion({ partId: this.partId });
      this.text = this.saved;
      [this.problem, this.stale, this.problems] = [undefined, false, []];
    } catch (caught) {
      this.problem = problemOf(caught);
    }
  }

  edit(text: string): void {
    this.text = text;
    this.#validate();
  }

  /** Takes the newest version as the base and keeps the draft. */
  async rebase(): Promise<void> {
    this.base = await fleet.getConfigurationVersion({ partId: this.partId });
    [this.stale, this.problem] = [false, undefined];
  }

  async #check(): Promise<void> {
    if (!this.isJson) return;
    const asked = this.text;
    try {
      const { problems } = await fleet.validateConfiguration({ partId: this.partId, document: asked });
      if (asked === this.text) this.problems = problems;
    } catch (caught) {
      this.problem = problemOf(caught);
    }
  }

  /** True once it is saved. */
  async save(): Promise<boolean> {
    this.saving = true;
    this.problem = undefined;
    try {
      const savedAt = this.base?.version?.version === 0n ? undefined : this.base?.version?.savedAt;
      await app.updateRobotPart({
        id: this.partId,
        robotConfigJson: this.text,
        ...(savedAt !== undefined && { lastKnownUpdate: savedAt }),
      });
      await this.load();
      return true;
    } catch (caught) {
      this.stale = ConnectError.from(caught).code === Code.Aborted;
      this.problem = problemOf(caught);
      return false;
    } finally {
      this.saving = false;
    }
  }
}
