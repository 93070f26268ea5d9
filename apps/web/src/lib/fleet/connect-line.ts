/** The line that connects another computer as a machine; `platform machines connect` prints the same. */
export function connectLine(given: {
  readonly cloudUrl: string;
  readonly token: string;
  readonly certificatePin: string;
}): string {
  const { cloudUrl, token, certificatePin: pin } = given;
  // Arguments of programs are visible to every account of a computer, so curl reads the address from its input; `printf` is no program.
  const url = `printf 'url="${new URL(cloudUrl).origin}/connect/${token}"\\n'`;
  return pin === ''
    ? `${url} | curl -fsS -K - | sh`
    : `${url} | curl -fsSk --pinnedpubkey '${pin}' -K - | PLATFORM_PIN='${pin}' sh`;
}
