/** Splits the output of a program or a device into lines of bounded length. */

export interface Lines {
  push(chunk: Uint8Array): void;
}

/**
 * @param maxBytes a longer line is dropped, and reported to `onTooLong` once
 * @param onLine gets each line as UTF-8 text, without its line break
 */
export function createLines(maxBytes: number, onLine: (line: string) => void, onTooLong: () => void): Lines {
  const kept: Uint8Array[] = [];
  let length = 0;
  let isTooLong = false;
  const keep = (part: Uint8Array): void => {
    if (isTooLong || part.length === 0) return;
    length += part.length;
    if (length > maxBytes) {
      isTooLong = true;
      kept.length = 0;
      onTooLong();
    } else kept.push(part);
  };
  const end = (): void => {
    const wasTooLong = isTooLong;
    const text = wasTooLong ? '' : Buffer.concat(kept).toString('utf8');
    kept.length = 0;
    length = 0;
    isTooLong = false;
    if (!wasTooLong) onLine(text.endsWith('\r') ? text.slice(0, -1) : text);
  };
  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
        keep(chunk.subarray(from, at));
        end();
        from = at + 1;
      }
      // A copy: the chunk may be a part of a large buffer that would otherwise stay in memory.
      keep(Uint8Array.from(chunk.subarray(from)));
    },
  };
}

const lineFeed = 0x0a;
