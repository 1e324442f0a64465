/** Made-up members of a club in households; nobody's data. */
export function clubText(): string {
  const lines = ['member,household,age,sport,happy'];
  for (let k = 1; k <= 240; k++)
    lines.push(
      `m${1000 + k},h${100 + Math.floor(k / 2)},${18 + ((k * 37) % 60)},${k % 3 === 0 ? 'yes' : 'no'},${k % 11 === 0 ? 99 : 1 + (k % 5)}`,
    );
  return `${lines.join('\n')}\n`;
}
