import { countOf, formatNumber } from '../format.ts';
import { ChartFrame } from './chart-frame.tsx';
import { balanceByDay, forecast, type UsageLine } from './usage.ts';

const HEIGHT = 120;
/** Steps of the line that are told in words. */
const GRANTS_MAX = 3;
const STEP = 10;
/** A forecast of more days says nothing. */
const DAYS_TOLD_MAX = 3650;

interface BalanceChartProps {
  /** All lines of the days, whatever they were for. */
  lines: readonly UsageLine[];
  from: string;
  to: string;
  /** Credits now. */
  balance: number;
}

function sayRest(days: number | null): string {
  if (days === null) return ' so far.';
  const rest = days > DAYS_TOLD_MAX ? 'more than ten years' : `about ${countOf(days, 'day')}`;
  return `. At this pace the balance lasts ${rest}.`;
}

/** The balance at the end of each day as a line, and how long it lasts. */
export function BalanceChart(range: BalanceChartProps) {
  const { lines, from, to, balance } = range;
  const days = balanceByDay(lines, range);
  const most = Math.max(1, ...days.map((day) => day.balance));
  const width = days.length * STEP;
  const heightOf = (credits: number) => HEIGHT - (credits / most) * (HEIGHT - 2) - 1;
  const points = days.flatMap(({ balance: credits }, at) => {
    const y = heightOf(credits).toFixed(1);
    return [`${at * STEP},${y}`, `${(at + 1) * STEP},${y}`];
  });
  const expected = forecast(lines, range);
  const grants = days.filter(({ added }) => added > 0);
  const latest = grants
    .slice(-GRANTS_MAX)
    .map(({ day, added }) => `${formatNumber(added)} on ${day}`);
  return (
    <ChartFrame
      label={`Balance at the end of each day from ${from} to ${to}: ${formatNumber(days[0]?.balance ?? 0)} at first, ${formatNumber(balance)} now`}
      width={width}
      height={HEIGHT}
      most={most}
      from={from}
      to={to}
      caption={
        (latest.length === 0 ? '' : `Added: ${latest.join(', ')}. `) +
        (expected === null
          ? 'Nothing was spent in these days.'
          : `About ${countOf(Math.round(expected.creditsPerDay), 'credit')} per day${sayRest(expected.days)}`)
      }
    >
      {days.map(({ day, balance: credits, added }, at) => (
        <rect
          key={day}
          class={added > 0 ? 'day added' : 'day'}
          x={at * STEP}
          y={0}
          width={STEP}
          height={HEIGHT}
        >
          <title>
            {`${day}: ${formatNumber(credits)} credits${added > 0 ? `, ${formatNumber(added)} added` : ''}`}
          </title>
        </rect>
      ))}
      <polyline class="balance" points={points.join(' ')} />
    </ChartFrame>
  );
}
