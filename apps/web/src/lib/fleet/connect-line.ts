/** The line that connects another computer as a machine; `platform machines connect` prints the same. */
export function connectLine(given: {
  readonly cloudUrl: string;
  readonly token: string;
  readonly certificatePin: string;
}): string {
  const { cloudUrl, token, certificatePin: pin } = given;
  const url = `${new URL(cloudUrl).origin}/connect/${token}`;
  return pin === '' ? `curl -fsS ${url} | sh` : `curl -fsSk --pinnedpubkey '${pin}' ${url} | PLATFORM_PIN='${pin}' sh`;
}
