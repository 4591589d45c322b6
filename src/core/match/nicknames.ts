/**
 * Given names that stand for each other, from general knowledge: groups between semicolons, the full form first. A name may be
 * in several groups (`Bert`). Only pairs in common use: a wide table would make other people the same person.
 */
const GROUPS = `
abigail abby abbie gail gayle; abraham abe abram; adam ad; adelaide addie adele; adrian adrien ade;
agnes aggie nessie; alan allan allen al; albert al bert albie;
alexander alex alec al sandy xander lex sasha alexandre alejandro alessandro aleksandr alexandr;
alexandra alex alexa sandra sandy lexi lexie sasha aleksandra alessandra alejandra; alexis alex lexi;
alfred al alf alfie fred freddie freddy; alice ali allie; alison allison ali allie;
alistair alasdair alastair alister al ali; amanda mandy manda; amelia amy millie mellie; anastasia stacy stacey ana;
andrea andi andie; andrew andy drew andreas andre andrei andrey; angela angie ange; angelina angie lina;
anita annie nita; ann anne anna annie nan nancy hannah ana; annette annie nettie;
anthony antony tony ant antonio anton; antoinette toni nettie; antonia toni; archibald archie; arnold arnie;
arthur art artie; augustus augustine gus; barbara barb babs barbie bobbie; barnaby barney; bartholomew bart;
beatrice bea trixie beatrix; belinda bel linda; benedict ben; benjamin ben benny benji benjy bennie;
bernadette bernie; bernard bernie barney bern; beverley beverly bev; bradley brad; bradford brad; brandon bran;
brenda bren; brendan bren brandon; brian bryan bryant; bridget bridie biddy bridgette; bruce brucie;
caitlin cait katelyn caitlyn; calvin cal; cameron cam; camilla milly cam; carol carole caroline carrie;
caroline carolyn carol carrie caro lyn; cassandra cass cassie sandra;
catherine katherine kathryn katharine cathryn cath cathy kate katie kathy kat kitty kathleen kit katy catharine;
cecilia cecily cissy celia; charles charlie chuck chas chad carl carlos chip; charlotte charlie lottie char;
cheryl cher sheryl; chester chet; christian chris christiaan kristian;
christina christine chris chrissy tina christie christy kristina kristine krista kris cristina;
christopher chris kit topher kristopher cristopher christoph kris; clarence clare; claudia claudie; clayton clay;
clement clem; clifford cliff; clifton cliff; clinton clint; connor conor; constance connie; cornelius neil con corny;
courtney court; curtis curt kurt; cynthia cindy cindi; cyril cy; dale dalle; daniel dan danny danial dani;
danielle dani dany; darlene dar; darren daz; david dave davy davey davie; deborah debra deb debbie debby debora;
delores dolores lola; denise denny; dennis denis den denny; derek derrick del deric; desmond des;
diana diane di dianne dianna; dominic dominick dom nick; donald don donny donnie; donna;
dorothy dot dottie dolly dora dotty; douglas doug dougie douglass; dudley dud; duncan dunc; dustin dusty; dwight ike;
earnest ernest ernie; edgar ed eddie; edith edie; edmund edmond ed eddie ned ted;
edward ed eddie ned ted teddy eduard edouard eduardo edwards; edwin ed eddie win; eileen aileen; elaine ellie lainie;
eleanor elinor ellie nell nora nellie eleanora; elena lena helena; elijah eli;
elizabeth elisabeth liz lizzie lizzy beth betty betsy bess bessie eliza elisa lisa libby betsey liza elise;
ellen ellie nell; elliot elliott eliot; emily em emmie millie; emma em emmy; emmanuel manny manuel emanuel;
enrique henry quique; eric erik rick rickie ric; erica erika ricki; ernestine erna; esther essie hester; eugene gene;
eugenia genie; evan ev; evangeline eva evie; evelyn evie eve; ezekiel zeke; ezra ez; faith fay; felicity flick fliss;
ferdinand ferdie fernando; florence flo florrie flossie; frances fran francie frankie fanny;
francis frank fran frankie francesco francisco; francisco paco pancho frank cisco; franklin frank frankie;
frank francis; frederick fred freddie freddy rick frederic fredrick fredric fritz frederik friedrich;
gabriel gabe gabby; gabriella gabrielle gabby gaby; gareth gary gaz; garrett gary garry; gary garry gaz;
geoffrey jeffrey geoff jeff; george georgie jorge georg; georgina georgia georgie gina;
gerald gerry jerry ger gerard; geraldine gerry geri; gerard gerry jerry ged; gertrude gert trudy; gilbert gil bert;
gillian jillian jill gill gilly; gina regina; giovanni gianni john gio; giuseppe beppe peppe pino joe; glenn glen;
gloria glo; gordon gord gordie; grace gracie; graham graeme grahame; gregory greg gregg greig; gretchen greta;
guadalupe lupe; guillermo memo bill william; gustavo gus; gwendolyn gwen wendy; hannah anna; harold harry hal;
harriet hattie harriett; harrison harry; harvey harv; helen helena ellen nell nellie lena; henrietta etta hettie;
henry harry hank hal henri; herbert herb bert herbie; herman manny; hillary hilary hill; hubert hugh bert hubie;
hugh hughie hugo; humphrey humph; ian iain; ignacio nacho; imogen immy; irene rene; isaac ike zac isaak;
isabel isabella bella izzy isabelle ysabel bel isobel; isaiah zay; israel izzy; ivan vanya; jack john jackson;
jackson jack; jacob jake jakob; jacqueline jackie jacky jacquelyn jacquie; james jim jimmy jamie jem jimmie jaime;
jane janie jenny janey; janet jan; janice jan; jasmine jas; jason jay jase; javier javi; jean jeanie jeannie;
jeanette jean jan jeannette; jedediah jed; jefferson jeff; jeffery jeffrey jeff geoff; jemima mima jem;
jennifer jen jenny jenni jenn jennie; jeremiah jerry jem; jeremy jerry jez jem; jerome jerry; jessica jess jessie;
jesse jess; jesus chuy; jill jillian; joan joanie; joann jo joanne joanna; joanna joanne jo joann; jocelyn joss;
joel joey; john johnny jack jon johnnie johann jonny; jonathan jon jonny john johnathan nathan jonathon;
jordan jordy; jose pepe joe joseph; joseph joe joey jos josef jo; josephine jo josie; joshua josh; joyce joy;
juan john; juanita nita; judith judy jude judi; julia julie jules; julian jules; julianne julie; justin jus;
karen kaz karin; katarina kat kata; katrina kat trina; keith kei; kelly kel; kelvin kel; kendall ken; kendra;
kenneth ken kenny kenn; kevin kev; kimberly kim kimberley kimmy; kirsten kirsty kirstie; kristen kristin kris kristy;
kurt curtis; lambert bert; lance lancelot; laura laurie lori laurel; lauren laurie;
laurence lawrence larry laurie laz lars lorenzo; lawrence larry lawrie law; leah lee; lee leigh; lenore nora;
leo leon leopold; leonard len leo lenny leon lennie; leonardo leo; leroy roy lee; leslie lesley les; lester les;
lewis louis lew lou; lillian lilian lil lily lilly; linda lindy lynda lin; lindsay lindsey lin; lionel leo;
lorraine lori lorrie; louis lou louie luis lewis; louise lou lulu louisa; lucas luke luc; lucille lucy lu;
lucinda lucy cindy; lucy lucie lucia; luther lu; lydia liddy; lynn lynne lyn; mackenzie mac kenzie;
madeleine madeline maddie maddy madelyn; magdalena magda lena maggie; malcolm mal; manuel manny manolo;
marcus marc mark; margaret maggie meg peggy marge margie madge greta rita peg megan marguerite margarita;
maria marie mary mia; marianne mary marian; marilyn mary lyn; marion marian; marjorie marge margie; mark marc marcus;
martha marty mattie; martin marty mart; martina marty tina; marvin marv; mary molly polly mae mamie maria marie may;
mathilda matilda tilly mattie; matthew matt matty mathew mat matthieu mateo; matthias matt mathias; maureen mo;
maurice morris mo maury; max maxwell maximilian maxim; maxine max; megan meg meghan; melanie mel;
melinda mindy mel linda; melissa mel missy lissa; melvin mel; mercedes sadie; meredith merry;
michael mike mick micky mickey mikey mitch miguel michel mikael michal mikhail misha;
michelle shelly mich chelle michele shell; mildred millie milly; miles myles; millicent millie milly;
miranda mandy; miriam mimi; mitchell mitch; mohammed mohammad muhammad mohamed muhammed mohamad mo md mohd;
monica mon; montgomery monty; mortimer mort; morris mo; murray muz; nadine nad; nancy nan ann; naomi nomi;
natalie nat nattie nathalie; natasha tasha nat; nathan nate nat nathaniel; nathaniel nathan nate nat;
neil neal niall; nelson nels; nicholas nick nicky nic nicolas nikolas nickolas nico nikolai nicola;
nicole nicky nikki nicki nic; nicola nicky nikki nic; nigel nige; noel nolly; nora norah nor; norman norm;
octavia tavy; oliver ollie olly; olivia liv livvy ollie; orlando lando; oscar ossie; oswald oz ozzie; owen ewan;
pamela pam; patricia pat patty patti tricia trish patsy pattie; patrick pat paddy rick patric;
paul pauly pablo paolo; paula polly; pauline polly; penelope penny; percival percy; perry peregrine;
peter pete pedro petr piotr pieter; philip phillip phil pip philipp philippe felipe; philippa pippa pip;
phyllis phyl; priscilla cilla; prudence prue; quentin quinn; rachel rae rach rachael; ralph rafe raphael;
ramona mona; randall randy rand; randolph randy rand dolph; raphael rafael rafa rafe raf; raymond ray;
rebecca becky bec becca beck rebekah bex; reginald reg reggie rex; reuben rube ruben; rhonda;
richard rick dick rich richie ricky ritchie rickey ricardo;
robert bob rob bobby robbie bert robin bobbie roberto robby; roberta bobbie robbie bobby; roderick rod roddy rick;
rodney rod; rodrigo rod; roger rog rodger; roland rollie rolly rowland; romeo rome; ronald ron ronnie ronny;
rosalind ros roz rosie; rosamund ros roz; rose rosie rosa; rosemary rose rosie; rowena ro; roxanne rox roxy;
royston roy; rudolph rudy rudolf; rufus ruf; rupert rup; russell russ rusty russel; ruth ruthie; salvatore sal;
samantha sam sammy sammie; samuel sam sammy; sandra sandy sandi sondra; sarah sara sally sadie; scott scotty scot;
sean shaun shawn shane; sebastian seb bas; serena rena; seymour sy; shannon shan; sharon shaz shari sharron;
sheila shelagh; sheldon shel; shelley shelly; shirley shirl; sidney sydney sid syd; silvia sylvia; simon si;
simone sim; solomon sol solly; sophia sophie sofia sophy; stanley stan; stella estelle;
stephanie steph stef stefanie stevie; stephen steven steve stevie stefan stephan esteban ste;
stewart stuart stu stew; susan sue susie suzie suzy susanna susannah suzanne; suzanne sue suzie suzy susan susanne;
sylvester sly; tabitha tabby; tamara tammy tam; tanya tania; teresa theresa terry tess tessa terri tracy therese;
terence terrence terry tel; thaddeus tad thad; thelma thel; theodora dora theo thea; theodore theo ted teddy theodor;
thomas tom tommy thom tomas; tiffany tiff; timothy tim timmy; tobias toby tobi; todd tod; tracey tracy trace;
travis trav; trevor trev; tristan tris; tyler ty; tyrone ty; ursula ursa; valentine val; valerie val;
vanessa nessa van; vernon vern; veronica ronnie vera roni; victor vic vik viktor;
victoria vicky vicki vic tori vickie vikki; vincent vince vinny vin vinnie vincenzo; viola vi; violet vi lettie;
virgil virge; virginia ginny ginger ginnie; vivian viv vivien vivienne; walter walt wally wal; wanda wendy;
warren wozza; wendell wen dell; wesley wes; wilbur will; wilfred wilf will fred wilfrid;
wilhelmina mina willa minnie; william bill will billy willie willy liam wm guillaume; wilma billie;
winifred win winnie fred; winston win; woodrow woody; xavier xav; yolanda yoli; yvonne vonnie;
zachary zac zach zack zachariah zak zackary; zachariah zach zack; andrzej jedrzej; aleksander olek alex;
bogdan bohdan; dmitry dmitri dima dmitriy dimitri; ekaterina katya; evgeny evgeni yevgeny zhenya; fyodor fedor;
giuseppina pina; ibrahim ebrahim; jaroslaw jarek; johannes hans jan johan johann; jurgen juergen; krzysztof chris;
maksim maxim max; margit margarete; matti matias; mikhail misha michail; nikolay nikolai nicolai kolya;
oleksandr aleksandr alexander sasha; olga olha; pavel paul pavlo; pilar pili;
sergey sergei serge sergio serhiy sergii; svetlana lana; tatiana tatyana tania tanya; tomasz tomek thomas;
vladimir volodymyr vova vlad; volodymyr vladimir; vyacheslav slava; wladyslaw wladek; yuri yury iurii yuriy;
yusuf youssef yousef josef joseph; ahmad ahmed ahmet; hussein husain hussain hossein husein; hassan hasan;
abdullah abdallah; mehmet mohammed; mustafa mustapha; omar umar omer; osman usman othman; ali aly; dolores lola;
concepcion concha conchita; francesca fran; rosario charo; eva evie
`;

const groupsOf = new Map<string, number[]>();
const heads: string[] = [];
for (const group of GROUPS.split(';')) {
  const [head = '', ...others] = group.trim().split(' ');
  for (const name of new Set([head, ...others])) {
    const groups = groupsOf.get(name);
    if (groups === undefined) groupsOf.set(name, [heads.length]);
    else groups.push(heads.length);
  }
  heads.push(head);
}

const noGroups: readonly number[] = [];

/** Returns true for two given names that stand for each other. Both are folded. */
export function areNicknames(a: string, b: string): boolean {
  const groups = groupsOf.get(a) ?? noGroups;
  if (groups.length === 0) return false;
  const others = groupsOf.get(b) ?? noGroups;
  return groups.some((group) => others.includes(group));
}

/** Returns true for a given name in common use: one letter more or less is another name, `Paula` beside `Paul`. */
export function isGivenName(name: string): boolean {
  return groupsOf.has(name);
}

/** Returns the full names that a given name stands for; itself when it has no others. */
export function fullNamesOf(name: string): readonly string[] {
  const groups = groupsOf.get(name);
  return groups === undefined ? [name] : groups.map((group) => heads[group] ?? name);
}
