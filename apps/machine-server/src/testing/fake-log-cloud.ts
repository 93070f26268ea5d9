/** A cloud that accepts only log lines. Like a real one, it recognises repeated lines by their numbers. */
import type { DescService } from '@bufbuild/protobuf';
import type { LogEntry } from '@platform/proto/platform/common/v1/common';
import type { Client, Link } from '@platform/rpc/client';

interface LogCall {
  readonly logs: readonly LogEntry[];
}

export class FakeLogCloud {
  /** Messages, each once. */
  readonly stored: string[] = [];
  readonly calls: { readonly messages: readonly string[]; readonly position: string }[] = [];
  repeated = 0;
  /** Runs before lines are stored; may throw. */
  before: (messages: readonly string[]) => void = () => {};
  /** Runs after lines were stored; if it throws, the acknowledgement is lost. */
  after: () => void = () => {};
  #stream = '';
  #last = 0;

  /** @param isAlive whether the machine that uses this link still runs */
  link(isAlive: () => boolean = () => true): Pick<Link, 'client'> {
    const log = async (
      { logs }: LogCall,
      { headers }: { readonly headers: Readonly<Record<string, string>> },
    ): Promise<object> => {
      // The call takes some time, and a machine may be killed meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
      if (!isAlive()) throw new Error('killed');
      const messages = logs.map(({ message }) => message);
      const position = headers['platform-log-position'] ?? '';
      this.calls.push({ messages, position });
      this.before(messages);
      this.#store(messages, position);
      this.after();
      return {};
    };
    return { client: <S extends DescService>(_service: S) => ({ log }) as unknown as Client<S> };
  }

  #store(messages: readonly string[], position: string): void {
    const [stream = '', first] = position.split(' ');
    if (stream !== this.#stream) this.#last = 0;
    this.#stream = stream;
    for (const [index, message] of messages.entries()) {
      const number = Number(first) + index;
      if (number <= this.#last) {
        this.repeated++;
        continue;
      }
      this.#last = number;
      this.stored.push(message);
    }
  }
}
